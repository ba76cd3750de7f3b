#!/usr/bin/env bash
# vLLM for its scheduler alone, on a CPU: `tests/engines/vllm.sh FOLDER [VERSION]` makes a virtual
# environment in FOLDER with vLLM's Python part (nothing is compiled) and schedproof. About four
# minutes and 1.5 GB. Then: FOLDER/bin/schedproof check vllm:fcfs
set -euo pipefail
folder=${1:?name a folder for the environment} version=${2:-0.33.0}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python3 -m venv "$folder"
pip() { "$folder/bin/python" -m pip install --quiet "$@"; }
pip torch==2.13.0
pip wheel packaging setuptools-scm setuptools-rust cmake ninja jinja2
VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE="$version" \
  pip --no-deps --no-build-isolation --no-binary vllm "vllm==$version"
pip --no-deps xgrammar==0.2.8
pip "transformers>=5.16.1,<5.20" numpy pydantic msgspec cachetools psutil requests tqdm pyzmq \
  cloudpickle regex pillow prometheus_client cbor2 aiohttp oss-harmony openai pybase64 uvloop \
  py-cpuinfo fastapi partial-json-parser llguidance apache-tvm-ffi
pip "$here"
"$folder/bin/schedproof" --version
