"""kc_vla: a robot stack that remembers."""

import os

# ONNX Runtime's builds send events to their maker, from a thread of their own, unless this stands before it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
