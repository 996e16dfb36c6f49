"""`python path/to/eqspec/audit CERTIFICATE ...`: exit code 0 if every certificate holds, 1 otherwise.

With `-` instead, requests are read line by line, {"path": ..., "folder": ..., "seconds": ...}, and answered in JSON.
With "part": [first, last] only these leaves of a proof are checked, and the verdict is "part".
Of a certificate that a leaf does not prove, its number and the obligation are told beside the reason. With
"draft": true all such leaves are told, and leaves that an earlier draft showed are not bounded again.
{"session": ..., ...} is a question of `sessions.py`, which proves nothing.
{"task": ..., "folder": ...} is only answered once the networks of the task are read, which then need not be read again.
The process holds itself to a time for each certificate and to the memory in `opening/limits.py`.
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
from audit.opening import label, limits, question  # type: ignore[import-not-found]  # noqa: E402
from audit.opening.process import hold, in_time  # type: ignore[import-not-found]  # noqa: E402
from audit.proof import Proof  # type: ignore[import-not-found]  # noqa: E402
from audit.sessions import Sessions  # type: ignore[import-not-found]  # noqa: E402

hold(limits.MEMORY)
if sys.argv[1:] == ["-"]:
    sessions = Sessions()
    for line in sys.stdin:
        asked = json.loads(line)
        seconds = float(asked.get("seconds") or limits.SECONDS)
        if "session" in asked:
            reply = {}
            with suppress(Exception), in_time(seconds):  # then the writer finds it out by itself
                reply = sessions.answer(asked)
            print(json.dumps(reply), flush=True)
            continue
        if "task" in asked:
            with suppress(Exception), in_time(seconds):  # what is wrong with it is said when it is audited
                Proof(question(asked["task"]), Path(asked["folder"]))
            print(json.dumps({}), flush=True)
            continue
        sessions.rest()
        try:
            with in_time(seconds):
                more = asked.get("part"), bool(asked.get("draft"))
                answer = vars(audit(Path(asked["path"]), Path(asked["folder"]), seconds, *more))
        except Refused as reason:
            answer = {"refused": str(reason), "unproved": reason.unproved}
        print(json.dumps(answer), flush=True)
    sys.exit(0)
failed = len(sys.argv) < 2
for name in sys.argv[1:]:
    try:
        with in_time(limits.SECONDS):
            found = audit(Path(name))
        print(f"{name}: {found.verdict}: {found.claim}")
        for heading, sentence in found.said[1:]:
            print(f"  {heading}: {sentence}")
        print(f"  named in the certificate, not checked: {label(str(found.labels.get('task', '')))}")
    except Refused as reason:
        failed = True
        print(f"{name}: refused: {reason}")
sys.exit(failed)
