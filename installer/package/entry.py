"""First module of a package's programs: the command `tequio`, or one of our modules after `-m`.

A package has no interpreter, but its programs start each other by module as from source. The
program `tequio-app` is `tequio app`, without a console.
"""

import multiprocessing
import runpy
import sys
from pathlib import Path

from tequio_client.platform import programs, versions

OURS = ("tequio_client",)

multiprocessing.freeze_support()
versions.restore_environment()
if sys.argv[1:2] == ["-m"] and sys.argv[2:3] and sys.argv[2].partition(".")[0] in OURS:
    del sys.argv[1]
    name = sys.argv.pop(1)
    runpy.run_module(name, run_name="__main__", alter_sys=True)
else:
    if Path(sys.executable).stem == "tequio-app" and sys.argv[1:2] != ["app"]:
        sys.argv.insert(1, "app")
    from tequio_client.__main__ import main
    from tequio_shared.version import BUILD

    if not programs.is_runtime():
        versions.hand_over(BUILD, sys.argv[1:])
    main()
