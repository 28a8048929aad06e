"""A network of namespaces: each role has an interface and an address of its own, and sees its own packets alone.

Everything lives in a user namespace with a network of its own (`unshare -rn`), so that the machine's network is not touched and nobody
has to be root. It ends with the processes that hold it.
"""
import os
import shutil
import subprocess
import sys
import time

INSIDE = "SOTTO_ANONYMITY_INSIDE"


def why_not():
    """Why there can be no namespaces here; None: there can."""
    for program in ("unshare", "nsenter", "ip"):
        if not shutil.which(program):
            return f"no {program} (packages util-linux, iproute2)"
    tried = "ip link add name try0 type veth peer name try1 && ip link add name try2 type bridge && unshare -n true"
    done = subprocess.run(["unshare", "-rn", "sh", "-c", tried], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return None if done.returncode == 0 else "no namespaces of the network here: " + done.stderr.strip().replace("\n", "; ")


def enter():
    """Runs this program again inside a network of its own, unless it is there already."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-rn", sys.executable] + sys.argv)


def ip(*words, inside=None):
    before = ["nsenter", "-t", str(inside), "-n"] if inside else []
    subprocess.run(before + ["ip"] + [str(w) for w in words], check=True)


class Loopback:
    """The same without namespaces: every address is the machine's own, and everybody sees everything. Nothing is to be captured here."""

    def add(self, name, address):
        pass

    def give_all(self, name, addresses):
        pass

    def route(self, name, addresses, by):
        pass

    def inside(self, name):
        return []

    def start(self, name, words, **more):
        return subprocess.Popen(words, **more)

    def close(self):
        pass


class Network:
    def __init__(self):
        self.holders = {}
        ip("link", "add", "name", "hub", "type", "bridge")
        ip("link", "set", "hub", "up")

    def add(self, name, address):
        """A namespace with this address; the hub carries its packets to the others."""
        holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
            time.sleep(0.01)
        self.holders[name] = holder
        port = f"p{len(self.holders)}"
        ip("link", "add", "name", port, "type", "veth", "peer", "name", "eth0", "netns", holder.pid)
        ip("link", "set", port, "master", "hub", "up")
        ip("address", "add", address + "/24", "dev", "eth0", inside=holder.pid)
        ip("link", "set", "eth0", "up", inside=holder.pid)
        ip("link", "set", "lo", "up", inside=holder.pid)

    def give_all(self, name, addresses):
        """Every address of this block is the namespace's own: a process may send from any of them."""
        ip("route", "add", "local", addresses, "dev", "lo", inside=self.holders[name].pid)

    def route(self, name, addresses, by):
        ip("route", "add", addresses, "via", by, inside=self.holders[name].pid)

    def inside(self, name):
        """What a command begins with that runs in this namespace."""
        return ["nsenter", "-t", str(self.holders[name].pid), "-n"]

    def start(self, name, words, **more):
        return subprocess.Popen(self.inside(name) + words, **more)

    def close(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
        ip("link", "delete", "hub")
