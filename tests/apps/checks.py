"""checks.py: what tests of programs share: a check that is counted, a call that must end and speak as it should,
a run's servers, and the exit code."""
import os
import subprocess

failures = 0


def check(holds, what, more=""):
    global failures
    if not holds:
        failures += 1
        print(f"FAILED: {what}\n{more}", flush=True)


def call(*words, code=0, says="", **more):
    """Runs a program; what it prints must have these words."""
    done = subprocess.run(words, capture_output=True, text=True, **more)
    text, name = done.stdout + done.stderr, " ".join(words[1:])
    check(done.returncode == code, f"{name}: wanted {code}, got {done.returncode}", text)
    check(says in text, f"{name}: does not say '{says}'", text)
    return done


def servers_of(parent, name):
    """Children of the run that have this server's database open."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) != parent:
                    continue
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        if any(link.endswith(f"/{name}.db") for link in links):
            found.append(int(pid))
    return found


def exit_code():
    return 1 if failures else 0
