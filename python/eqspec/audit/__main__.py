"""`python path/to/eqspec/audit CERTIFICATE ...`: exit code 0 if every certificate holds, 1 otherwise.

With `-` instead, requests are read line by line, {"path": ..., "folder": ...}, and answered in JSON. {"task": ...,
"folder": ...} is only answered once the networks of the task are read, which then need not be read again.
"""

import gc
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # the products here are too small to share
gc.set_threshold(1_000_000)  # exact weights are many small objects, none of which is in a cycle
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit import Refused, audit  # type: ignore[import-not-found]  # noqa: E402
from audit.proof import Proof  # type: ignore[import-not-found]  # noqa: E402

if sys.argv[1:] == ["-"]:
    for line in sys.stdin:
        asked = json.loads(line)
        if "task" in asked:
            with suppress(Exception):  # what is wrong with it is said when it is audited
                Proof(asked["task"], Path(asked["folder"]))
            print(json.dumps({}), flush=True)
            continue
        try:
            print(json.dumps(vars(audit(Path(asked["path"]), Path(asked["folder"])))), flush=True)
        except Refused as reason:
            print(json.dumps({"refused": str(reason)}), flush=True)
    sys.exit(0)
failed = len(sys.argv) < 2
for name in sys.argv[1:]:
    try:
        found = audit(Path(name))
        print(f"{name}: {found.verdict}: {found.claim}")
    except Refused as reason:
        failed = True
        print(f"{name}: refused: {reason}")
sys.exit(failed)
