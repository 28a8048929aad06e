#!/usr/bin/env python3
"""test_learn_own.py SOTTO SOURCE: a model that sotto has not, trained by a program, over real servers: its updates are clipped, added up and
released, and the session is killed and goes on. The same over one server, with a program that fails, and mistakes. With PyTorch: examples/trainer."""
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile

import checks
from checks import check, exit_code

sotto, source = sys.argv[1], sys.argv[2]

# Each number of an update is 0.01. With rows, `nan` sends no number; every job is noted.
TRAINER = """
import json, struct, sys
how, name = sys.argv[1:]

def send(kind, body):
    sys.stdout.buffer.write(struct.pack(">IB", len(body) + 1, kind) + body)
    sys.stdout.buffer.flush()

send(1, struct.pack(">H", 1) + bytes([len(name)]) + name.encode())
while len(head := sys.stdin.buffer.read(5)) == 5:
    length, kind = struct.unpack(">IB", head)
    body = sys.stdin.buffer.read(length - 1)
    if kind != 2:
        break
    size = struct.unpack(">I", body[:4])[0]
    job, file = json.loads(body[4:4 + size]), body[4 + size:]
    with open("jobs", "a") as f:
        f.write(f"{job['model']} {job['round']} {len(job['rows'])} {job['rate']}\\n")
    start = 8 + struct.unpack("<Q", file[:8])[0]
    number = float("nan") if how == "nan" and job["rows"] else 0.01 if job["rows"] else 0
    send(3, file[:start] + struct.pack("<f", number) * ((len(file) - start) // 4))
"""


def call(*words, **wanted):
    return checks.call(sotto, "learn", *words, **wanted)


def write_model(path, numbers=500, value=0.5):
    """Two tensors with names and an order that no model of sotto has."""
    cut = 4 * (numbers - 4)
    head = json.dumps({"tail.b": {"dtype": "F32", "shape": [4], "data_offsets": [cut, cut + 16]}, "__metadata__": {"made": "by hand"},
                       "layers.0.inner.w": {"dtype": "F32", "shape": [numbers - 4, 1], "data_offsets": [0, cut]}}).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + struct.pack("<f", value) * numbers)
    return head


def read_model(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    return data[8:8 + size], struct.unpack(f"<{(len(data) - 8 - size) // 4}f", data[8 + size:])


def jobs():
    with open("jobs") as f:
        return [line.split() for line in f]


def trainer(how="train", name="pair"):
    return ["--trainer", f"{sys.executable} trainer.py {how} {name}"]


def a_session_trains_it():
    head = write_model("first")
    said = call("init", "plan", "--model", "pair", "--init", "first", "--devices", "20", "--cohort", "20", "--rounds", "2",
                "--epsilon", "30", says="plan/recipe.json --policy plan/policy.json --init plan/model.safetensors")
    check("needs 16" in said.stdout, "its plan", said.stdout)
    call("check", "plan/recipe.json", "--init", "plan/model.safetensors", says="pair, 500 parameters, begins as the recipe says")
    words = ["plan/recipe.json", "--init", "plan/model.safetensors", *trainer()]
    run = subprocess.Popen([sotto, "learn", "run", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        if line.startswith("round 0: closed"):
            check(line == "round 0: closed\n", "nobody here can tell how well it does", line)
            run.send_signal(signal.SIGKILL)
            break
    run.stderr.read()
    run.wait()
    done = call("run", *words, "--json")
    status = json.loads(done.stdout)
    check(status["rounds"] == 2 and status["burnt"] == 0 and status["reports"] == 40, "its rounds", done.stdout + done.stderr)
    check(status["model_type"] == "pair" and status["loss"] is None and 0 < status["epsilon"] <= 30, "its receipt", done.stdout)
    check("sent zeros" not in done.stderr, "no trainer failed", done.stderr)
    trained = [job for job in jobs() if job[2] != "0"]
    check(sorted({job[1] for job in trained}) == ["0", "1"] and all(job[0] == "pair" and job[2] == "30" for job in trained), "its jobs", str(jobs()))
    with open("plan.learn/curve.csv") as f:
        check(f.read() == "round,loss,accuracy\n1,,\n2,,\n", "a curve without numbers")
    call("watch", "plan.learn", says="2 of 2 rounds")
    call("export", "plan.learn", "--to", "m.safetensors")
    call("export", "plan.learn", "--to", "m.npz", code=4, says="npz is for models that sotto has")
    with open("m.safetensors", "rb") as f:
        check(hashlib.sha256(f.read()).hexdigest() == status["model"], "the digest is that of the file")
    kept, numbers = read_model("m.safetensors")
    check(kept == head and len(numbers) == 500, "names and shapes stay", kept)
    # Every device sent 0.01 in each of two rounds. The mean of 500 numbers has noise of 0.002 or less.
    moved = sum(numbers) / len(numbers) - 0.5
    check(0.008 < moved < 0.032, f"it moved by {moved}, and by 0.02 without noise", json.dumps(status))
    again = json.loads(call("run", *words, "--json").stdout)
    check(again["transcript"] == status["transcript"], "a session that is over stays as it is")


def failing_programs_are_told():
    words = ["plan/recipe.json", "--init", "first", "--out", "failing"]
    done = call("run", *words, *trainer("nan"), "--stop-after", "1", "--threads", "1", says="round 0: 20 devices sent zeros: ")
    moved = sum(read_model(f"failing/models/{json.loads(call('watch', 'failing', '--json').stdout)['model']}")[1]) / 500 - 0.5
    check(abs(moved) < 0.009, f"zeros were sent, and it moved by {moved}", done.stderr)


def one_server_trains_it():
    with open(f"{source}/examples/one-server/recipe.json") as f:
        recipe = json.load(f)
    write_model("small", 15)
    with open("small", "rb") as f:
        recipe["learn"]["model"] = {"type": "pair", "parameters": 15, "init": hashlib.sha256(f.read()).hexdigest()}
    recipe["rounds"].update(count=1, participations=1, goal=12, largest=16)
    recipe["privacy"].update(epsilon=30, min_cohort=12, honest=0.7)
    recipe["aggregation"].update(cohort=16, decryptors={"count": 6, "dropout": 0.1, "epoch_rounds": 9}, graph={"degree": 15, "neighbours": 5})
    recipe["population"] = 16
    with open("one.json", "w") as f:
        json.dump(recipe, f)
    os.remove("jobs")
    done = call("run", "one.json", "--init", "small", *trainer(), "--json")
    check(json.loads(done.stdout)["rounds"] == 1 and len([job for job in jobs() if job[2] != "0"]) == 16, "over one server", done.stderr)


def mistakes_are_told():
    words = ["plan/recipe.json", "--out", "none"]
    call("run", *words, "--init", "first", code=4, says="sotto has no model 'pair': --trainer names a program")
    call("run", *words, *trainer(), code=4, says="--init names its first file")
    call("run", *words, "--init", "first", *trainer(name="other"), code=4, says='it does not train "pair"')
    call("run", *words, "--init", "first", "--trainer", "/nowhere/at/all", code=1, says="could not be started")
    write_model("second", value=0.25)
    call("run", *words, "--init", "second", *trainer(), code=4, says="not the digest of the first model")
    write_model("longer", 501)
    call("check", "plan/recipe.json", "--init", "longer", code=4, says="501 numbers")
    write_model("wrong", value=float("nan"))
    call("init", "none", "--model", "pair", "--init", "wrong", code=1, says="not finite")
    call("init", "none", "--model", "pair", "--init", "trainer.py", code=1, says="safetensors")
    call("init", "none", "--model", "lenet", "--init", "first", code=2, says="--init")
    call("init", "none", "--model", "pair", "--init", "first", "--data", "x", code=2, says="without --data")
    call("init", "none", "--model", "pair", code=2, says="another one has --init")
    call("run", "plan/recipe.json", "--parties", "p", "--pairing", "p", "--key", "k", *trainer(), code=2, says="bring their own")
    check(not os.path.exists("none"), "what is refused makes no folder")


def the_example_trains_by_pytorch():
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode:
        print("PyTorch is not installed: its example is left out")
        return
    program = f"{sys.executable} {source}/examples/trainer/trainer.py"
    with open("torch.first", "wb") as f:
        subprocess.run([*program.split(), "--first", "mine"], stdout=f, check=True)
    call("init", "mine", "--model", "mine", "--init", "torch.first", "--devices", "20", "--cohort", "20", "--rounds", "1", "--epsilon", "30")
    done = call("run", "mine/recipe.json", "--init", "torch.first", "--trainer", program, "--json")
    check(json.loads(done.stdout)["reports"] == 20 and "sent zeros" not in done.stderr, "by PyTorch", done.stderr)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    with open("trainer.py", "w") as f:
        f.write(TRAINER)
    a_session_trains_it()
    failing_programs_are_told()
    one_server_trains_it()
    mistakes_are_told()
    the_example_trains_by_pytorch()
    os.chdir("/")
sys.exit(exit_code())
