"""loopback.py SOTTO FLEET: every service as a process, and devices that know of the recipe by the log's feed alone.

The deployment of linking.py on loopback addresses, so that it needs no namespaces and shows no unlinkability. Devices fetch the feed through relay and
gateway, take recipe and token keys from it, get their tokens, and answer.
"""
import os
import shutil
import sys
import tempfile

from deployment import Deployment

DEVICES = 12
# Every device has to answer, also on a machine that stops for half a minute: so long is what is left of the collection then.
PLAN = {"devices": DEVICES, "rate": 1, "mix_least": 2, "mix_delay_ms": 100, "fetch": 1, "answer": 1, "gateways": 1, "hasty": False, "seed": 1,
        "length": 45}


def check(what, good):
    if not good:
        raise AssertionError(what)


def main():
    directory = tempfile.mkdtemp()
    process = os.getpid()  # two of these at once have other addresses
    loopback = f"127.{100 + (process >> 8) % 100}.{process % 256}."
    deployment = Deployment(directory, os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.dirname(os.path.abspath(__file__)), PLAN,
                            loopback)
    good = False
    try:
        deployment.start()
        truth = deployment.run_fleet()
        check(f"{len(truth)} devices answered", len(truth) == DEVICES)
        # On a slow machine there may be a second key, and what got no answer goes again.
        check("a token for each device", deployment.metric("attester", "sotto_tokens_forwarded") >= DEVICES)
        check("a fetch and a report of each device pass the relay", deployment.metric("relay", "sotto_relay_forwarded_total") >= 2 * DEVICES)
        deployment.stop()
        good = True
    finally:
        deployment.close()
        if not good:
            deployment.show_logs()
        shutil.rmtree(directory)
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
