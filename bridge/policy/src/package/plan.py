# pip, without any program beside it. What a package names by an address is built by pip whatever
# `--only-binary` says, and a repository is fetched by its own program: before the person's yes neither may be.
# A hook like this cannot be taken off again. Python 3.8 or newer; an older one fails here.
import errno
import runpy
import sys

STARTS = {
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
}


def refuse(event, _):
    # An error that pip and its libraries expect of a program, and none that they put into words of their own.
    if event in STARTS:
        raise OSError(errno.ECANCELED, "Harbor lets nothing run before the yes")


sys.addaudithook(refuse)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
