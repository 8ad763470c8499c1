// A browser starts no worker from a file on disk, but from a text that a page holds: SOURCE is that of the search.
if (location.protocol === "file:") {
  const Real = window.Worker;
  window.Worker = function () {
    return new Real(URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" })));
  };
}
