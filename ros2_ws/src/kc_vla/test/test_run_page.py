"""The page of a run: what it says of its episodes, of those that are not whole, and of texts that mean harm."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from episode_bag import Script
from episode_bag import write_episode as write_bag
from run_folders import summary, write_episode, write_table

from kc_vla.cli import main
from kc_vla.reports.run.run_page import png_size, write_run_page
from kc_vla.reports.run.table_log import RunTableLog


class Read(HTMLParser):
    """A page as it is read: its text, and what its tags say."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._within = ""
        self.feed(page.read_text())
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag

    def handle_data(self, data: str) -> None:
        if self._within not in ("style", "script"):
            self.words.append(data)

    def addresses(self) -> set[str]:
        named = {
            value for _, given in self.tags for name in ("href", "src", "data-poster") if (value := given.get(name))
        }
        return {each for each in named if not each.startswith(("#", "data:,"))}


def whole_run(folder: Path) -> Path:
    told = [summary(seed=seed, success=seed > 0) for seed in range(3)] + [summary("spatial", seed=9)]
    for each in told:
        write_episode(folder, each)
    return write_table(folder, told)


def test_a_run_is_told_with_intervals_keyframes_latencies_and_settings(tmp_path: Path) -> None:
    page = write_run_page(whole_run(tmp_path))
    assert page == tmp_path / "run-counting-0.html"
    read = Read(page)
    assert "3 of 4 episodes succeeded" in read.text
    assert "counting 66.7 % 20.8 to 93.9, 2 of 3" in read.text  # Wilson
    assert "all 75.0 % 30.1 to 95.4, 3 of 4" in read.text
    assert "6 of 12" in read.text  # keyframes of counting
    assert read.text.count("8.2 / 50.5") == 5  # of each episode, and of all
    assert "policy learned keyframes learned mode lockstep" in read.text
    assert "the cube is not on the target" in read.text
    assert "Not as it should be" not in read.text


def test_all_that_is_named_is_there_and_relative(tmp_path: Path) -> None:
    read = Read(write_run_page(whole_run(tmp_path)))
    addresses = read.addresses()
    assert "./counting-1/episode.mp4" in addresses
    assert "./counting-1/summary.json" in addresses
    assert [each for each in addresses if not (tmp_path / each).exists()] == []
    assert "://" not in (tmp_path / "run-counting-0.html").read_text()


@pytest.mark.parametrize(
    "hostile", ['</script><script>alert("x")</script>', '"><img src=x onerror=alert(1)>', "\ud800"]
)
def test_a_hostile_text_stays_a_text(tmp_path: Path, hostile: str) -> None:
    fields = {name: hostile for name in ("task", "instruction", "reason", "variant")}
    told = summary(success=False) | fields | {"settings": {hostile: hostile}, "damages": [hostile]}
    told["keyframes"]["ours"][1]["label"] = hostile
    told["stages"] = [hostile, hostile]
    write_episode(tmp_path, told)
    read = Read(write_run_page(tmp_path))
    assert [tag for tag, _ in read.tags].count("script") == 1
    assert [given for tag, given in read.tags if tag == "img"] == []
    assert not [name for _, given in read.tags for name in given if name.startswith("on")]
    assert hostile.encode("utf-8", "replace").decode() in read.text


def test_a_hostile_name_of_a_folder_leads_nowhere_else(tmp_path: Path) -> None:
    name = 'javascript:alert(1)"><b> #?%41'
    write_episode(tmp_path, summary() | {"episode_id": name})
    read = Read(write_run_page(tmp_path))
    assert "b" in {tag for tag, _ in read.tags}  # the page's own
    assert all(re.match(r"\./javascript%3Aalert%281%29%22%3E%3Cb%3E%20%23%3F%2541/", each) for each in read.addresses())


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "..", "", "a\nb"])
def test_a_table_names_no_folder_elsewhere(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path, [summary()])
    told = json.loads(table.read_text())
    told["table"][0]["episode"] = name
    table.write_text(json.dumps(told))
    assert main(["report", str(table)]) == 1
    assert "is no name of a folder" in capsys.readouterr().err


def test_an_interrupted_run_says_what_is_missing(tmp_path: Path) -> None:
    table = whole_run(tmp_path)
    told = json.loads(table.read_text())
    table.write_text(json.dumps(told | {"planned": 8, "stopped": "the simulator does not answer"}))
    shutil.rmtree(tmp_path / "counting-0")
    (tmp_path / "counting-1/summary.json").write_text('{"task": "coun')
    (tmp_path / "counting-2/summary.json").unlink()
    (tmp_path / "spatial-9/episode.mp4").unlink()
    text = Read(write_run_page(table)).text
    assert "stopped: the simulator does not answer" in text
    assert "4 of 8 episodes were run" in text
    assert "its folder is missing" in text
    assert "summary.json cannot be used: Unterminated string" in text
    assert "no summary.json: kc-vla report counting-2/bag makes it" in text
    assert "no film" in text
    assert "3 of 4 episodes succeeded" in text  # the table knows still


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"success": "yes"}, "'success' is neither true nor false"),
        ({"keyframes": []}, "'keyframes' is no object"),
        ({"duration_s": 1e999}, "'duration_s' is no number"),
        ({"latency_ms": {"a": {"b": 3}}}, "'b' is no object"),
        ({"seed": 1.5}, "'seed' is no whole number"),
    ],
)
def test_a_summary_that_is_not_ours_is_told_and_not_guessed_at(
    tmp_path: Path, wrong: dict[str, object], told: str
) -> None:
    write_episode(tmp_path, summary() | wrong)
    text = Read(write_run_page(tmp_path)).text
    assert f"summary.json cannot be used: {told}" in text
    assert "no result" in text


def test_troubles_of_the_episodes_are_counted(tmp_path: Path) -> None:
    troubles = {
        "problems": {"policy_server": "answers late"},
        "dropped": {"recorder": {"wrist/image_raw": 3}, "maniskill_bridge": {"frame shown again": 2}},
        "holds": [{"reason": "chunk is stale", "count": 7, "first_step": 2}],
    }
    for seed in range(2):
        write_episode(tmp_path, summary(seed=seed) | troubles)
    write_episode(tmp_path, summary(seed=2) | {"settings": {"policy": "expert"}})
    text = Read(write_run_page(tmp_path)).text
    assert "policy_server: answers late 2 episodes" in text
    assert "recorder lost 3 of wrist/image_raw 2 episodes" in text
    assert "maniskill_bridge: 2 x frame shown again 2 episodes" in text
    assert "the arm held 7 times: chunk is stale 2 episodes" in text
    assert "not all episodes have the same policy: learned (2), expert (1)" in text


def test_episodes_that_nobody_judged_are_no_failures(tmp_path: Path) -> None:
    write_episode(tmp_path, summary(seed=0, success=None) | {"reason": "nobody judged it (time is up)"})
    write_episode(tmp_path, summary(seed=1))
    text = Read(write_run_page(tmp_path)).text
    assert "1 of 1 episodes succeeded" in text
    assert "1 of 1, 1 not judged" in text


def test_the_folders_of_a_household_and_of_a_replay_are_shown(tmp_path: Path) -> None:
    for name, files in {"home-1": ("report.md", "way.png"), "x-replay": ("replay.md", "replay.png")}.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).touch()
    read = Read(write_run_page(tmp_path))
    assert {"./home-1/way.png", "./home-1/report.md", "./x-replay/replay.png"} <= read.addresses()
    assert "no summary.json" not in read.text


def test_the_command_makes_the_page_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole_run(tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"page: {tmp_path / 'index.html'}\n"
    assert "3 of 4 episodes succeeded" in Read(tmp_path / "index.html").text
    assert main(["report", str(tmp_path), "-o", "elsewhere"]) == 1
    assert "--output is for one episode" in capsys.readouterr().err


def test_missing_is_for_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--missing"]) == 1
    assert "--missing is for the folder of a run" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole_run(tmp_path)
    (tmp_path / "index.html").mkdir()
    assert main(["report", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot write" in told


def test_a_page_that_is_a_link_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("dear to me")
    folder = tmp_path / "runs of others"
    write_episode(folder, summary())
    (folder / "index.html").symlink_to(tmp_path / "mine")
    assert main(["report", str(folder)]) == 1
    assert "it is a link" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "dear to me"


def test_at_the_end_of_a_run_its_page_is_written_and_told_once(tmp_path: Path) -> None:
    said: list[str] = []
    table = RunTableLog(tmp_path, 3, said.append)
    for seed in range(2):
        told = summary(seed=seed)
        write_episode(tmp_path, told)
        table.add({"episode": told["episode_id"], "task": "counting", "success": True})
    table.stop("the simulator does not answer")
    table.tell()
    table.tell()
    assert said[0] == "stopped: the simulator does not answer"
    assert said.count(f"page:  {tmp_path / 'run-counting-0.html'}") == 1
    assert "2 of 3 episodes were run" in Read(tmp_path / "run-counting-0.html").text


def test_one_episode_has_no_page(tmp_path: Path) -> None:
    said: list[str] = []
    table = RunTableLog(tmp_path, 1, said.append)
    table.add({"episode": "counting-0", "task": "counting", "success": True})
    table.tell()
    assert said == ["1 of 1 episodes succeeded"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_png_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert png_size(tmp_path / "a.png") is None
    assert png_size(tmp_path / "none.png") is None


def test_missing_reports_are_made_first_and_those_that_cannot_be_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write_bag(tmp_path / "counting-3" / "bag", Script(size=32, steps=45))
    (tmp_path / "torn" / "bag").mkdir(parents=True)
    assert main(["report", str(tmp_path), "--missing"]) == 1
    assert "no report of 1 episodes" in capsys.readouterr().err
    assert (bag.parent / "poster.jpg").stat().st_size > 1000
    read = Read(tmp_path / "index.html")
    assert "./counting-3/poster.jpg" in read.addresses()
    assert "policy expert keyframes oracle" in read.text  # as the chunks and the scores in the bag say
    assert "no summary.json: kc-vla report torn/bag" in read.text
