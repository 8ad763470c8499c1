# The stack with its simulator, on any machine with Docker: docker compose --profile sim run --rm sim
FROM debian:bookworm-slim

# setup.sh finds what else it needs; a Python has to be there to begin with.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/kc_vla
# The lock files before the code: an image is made anew from here on where the code alone has changed.
COPY setup.sh env.sh ./
COPY setup setup
COPY requirements requirements
RUN ./setup.sh --packages && rm -rf /var/lib/apt/lists/* /root/.cache

COPY . .
RUN ./setup.sh --no-system && useradd --create-home --uid 1000 robot

USER 1000
WORKDIR /home/robot
ENTRYPOINT ["/opt/kc_vla/docker/entrypoint.sh"]
CMD ["ros2", "launch", "kc_vla", "maniskill.launch.py", "task:=counting", "seed:=3"]
