"""drive.py SOTTO PROFILE [PEERS]: four parties through the interop test API, every VDAF, both batch modes.

Each party is a process of its own: sotto's, or one that runs already, given as ROLE=URL (comma-separated) where another
implementation takes that role. Known measurements are uploaded and collected; what comes back must be their sum.
VDAFS (environment) limits the types.
"""
import base64, json, os, subprocess, sys, time, urllib.request

ROLES = ["client", "leader", "helper", "collector"]
PRECISION = 300
CASES = [
    ({"type": "Prio3Count"}, ["1", "0", "1", "1", "0"], "3"),
    ({"type": "Prio3Sum", "max_measurement": "1000"}, ["1000", "0", "17", "255"], "1272"),
    ({"type": "Prio3SumVec", "max_measurement": "15", "length": "4", "chunk_length": "3"},
     [["1", "2", "3", "15"], ["0", "0", "0", "15"], ["7", "0", "1", "15"]], ["8", "2", "4", "45"]),
    ({"type": "Prio3Histogram", "length": "6", "chunk_length": "2"},
     ["0", "5", "5", "2"], ["1", "0", "1", "0", "0", "2"]),
    ({"type": "Prio3MultihotCountVec", "length": "5", "chunk_length": "2", "max_weight": "3"},
     [["1", "0", "1", "0", "1"], ["0", "0", "1", "0", "0"], ["0", "0", "0", "0", "0"]],
     ["1", "0", "2", "0", "1"]),
    ({"type": "Prio3L1BoundSum", "length": "3", "chunk_length": "2", "max_measurement": "9"},
     [["4", "5", "0"], ["0", "0", "9"], ["1", "1", "1"]], ["5", "6", "10"]),
]


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def post(base, command, body):
    request = urllib.request.Request(base + "internal/test/" + command, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200, answer.status
        return json.load(answer)


def must(base, command, body):
    answer = post(base, command, body)
    assert answer.get("status") == "success", (command, answer)
    return answer


def start(sotto, role, profile):
    process = subprocess.Popen([sotto, "interop", role, "--listen", "127.0.0.1:0", "--profile", profile],
                               stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line.startswith("listening on port "), (role, line)
    return process, "http://127.0.0.1:%d/" % int(line.split()[-1])


def run(urls, vdaf, measurements, wanted, mode):
    endpoint = {r: must(urls[r], "endpoint_for_task", {"task_id": "", "role": r})["endpoint"]
                for r in ("leader", "helper")}
    task = {"task_id": b64(os.urandom(32)), "leader": urls["leader"].rstrip("/") + endpoint["leader"],
            "helper": urls["helper"].rstrip("/") + endpoint["helper"], "vdaf": vdaf,
            "time_precision": PRECISION, "min_batch_size": len(measurements), "batch_mode": mode}
    collector_token = b64(os.urandom(16))
    secret = {"leader_authentication_token": b64(os.urandom(16)), "vdaf_verify_key": b64(os.urandom(32)),
              "collector_hpke_config":
                  must(urls["collector"], "add_task",
                       dict(task, collector_authentication_token=collector_token))["collector_hpke_config"]}
    must(urls["helper"], "add_task", dict(task, role="helper", **secret))
    must(urls["leader"], "add_task",
         dict(task, role="leader", collector_authentication_token=collector_token, **secret))
    first = int(time.time()) // PRECISION * PRECISION
    for measurement in measurements:
        must(urls["client"], "upload", dict(task, measurement=measurement))
    query = {"type": mode}
    if mode == 1:
        query.update(batch_interval_start=first, batch_interval_duration=2 * PRECISION)
    handle = must(urls["collector"], "collection_start",
                  {"task_id": task["task_id"], "agg_param": "", "query": query})["handle"]
    deadline = time.time() + 60
    while True:
        answer = post(urls["collector"], "collection_poll", {"handle": handle})
        if answer["status"] != "in progress" or time.time() > deadline:
            break
        time.sleep(0.05)
    assert answer["status"] == "complete", answer
    assert answer["report_count"] == len(measurements), answer
    assert answer["result"] == wanted, (answer, wanted)
    assert first <= answer["interval_start"] <= first + PRECISION, answer
    assert answer["interval_duration"] in (PRECISION, 2 * PRECISION), answer


def check_mistakes(urls):
    """What is wrong is told with 200 and a reason, and changes nothing."""
    for role in ROLES:
        assert post(urls[role], "ready", {}) == {}
    for role, command in [("client", "upload"), ("leader", "add_task"), ("helper", "add_task"),
                          ("collector", "add_task"), ("collector", "collection_start"),
                          ("collector", "collection_poll")]:
        for body in ({}, [], {"task_id": "x", "handle": "x"}, {"role": "leader", "vdaf": 7}):
            answer = post(urls[role], command, body)
            assert answer["status"] == "error" and answer["error"], (role, command, answer)


def main():
    sotto, profile = sys.argv[1], sys.argv[2]
    others = dict(p.split("=", 1) for p in sys.argv[3].split(",")) if len(sys.argv) > 3 else {}
    only = os.environ.get("VDAFS", "").split()
    urls, processes = dict(others), []
    try:
        for role in ROLES:
            if role not in others:
                process, urls[role] = start(sotto, role, profile)
                processes.append(process)
        if not others:
            check_mistakes(urls)
        for vdaf, measurements, wanted in CASES:
            if only and vdaf["type"] not in only:
                continue
            for mode in (1, 2):
                run(urls, vdaf, measurements, wanted, mode)
                print("%s %s batch mode %d: ok" % (profile, vdaf["type"], mode), flush=True)
    finally:
        for process in processes:
            process.terminate()
        codes = [process.wait(20) for process in processes]
    assert codes == [0] * len(processes), codes


main()
