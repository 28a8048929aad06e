"""drive.py SOTTO PROFILE [PEERS]: four parties through the interop test API, every VDAF, both batch modes.

Each party is a process of its own: sotto's, or one that runs already, given as ROLE=URL (comma-separated) where another
implementation takes that role. Known measurements are uploaded and collected; what comes back must be their sum.
VDAFS (environment) limits the types.
"""
import base64, json, os, struct, subprocess, sys, time, urllib.error, urllib.request

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


def collect(collector, request, patient):
    """Janus' leader refuses to look for "the next batch" before there is one: patient asks again then."""
    handle, deadline = None, time.time() + 60
    while True:
        if handle is None:
            handle = must(collector, "collection_start", request)["handle"]
        answer = post(collector, "collection_poll", {"handle": handle})
        if time.time() > deadline or answer["status"] == "complete":
            return answer
        if answer["status"] == "error":
            if not patient:
                return answer
            handle = None
            time.sleep(1)
        time.sleep(0.05)


def new_task(urls, vdaf, min_batch_size, mode):
    """The task as everybody is told it, and the tokens."""
    endpoint = {r: must(urls[r], "endpoint_for_task", {"task_id": "", "role": r})["endpoint"]
                for r in ("leader", "helper")}
    task = {"task_id": b64(os.urandom(32)), "leader": urls["leader"].rstrip("/") + endpoint["leader"],
            "helper": urls["helper"].rstrip("/") + endpoint["helper"], "vdaf": vdaf,
            "time_precision": PRECISION, "min_batch_size": min_batch_size, "batch_mode": mode}
    tokens = {"leader": b64(os.urandom(16)), "collector": b64(os.urandom(16))}
    config = must(urls["collector"], "add_task", dict(task, collector_authentication_token=tokens["collector"]))
    secret = {"leader_authentication_token": tokens["leader"], "vdaf_verify_key": b64(os.urandom(32)),
              "collector_hpke_config": config["collector_hpke_config"]}
    must(urls["helper"], "add_task", dict(task, role="helper", **secret))
    must(urls["leader"], "add_task",
         dict(task, role="leader", collector_authentication_token=tokens["collector"], **secret))
    return task, tokens


def run(urls, vdaf, measurements, wanted, mode, patient):
    task, _ = new_task(urls, vdaf, len(measurements), mode)
    first = int(time.time()) // PRECISION * PRECISION
    for measurement in measurements:
        must(urls["client"], "upload", dict(task, measurement=measurement))
    query = {"type": mode}
    if mode == 1:
        query.update(batch_interval_start=first, batch_interval_duration=2 * PRECISION)
    answer = collect(urls["collector"], {"task_id": task["task_id"], "agg_param": "", "query": query}, patient)
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


def dap(method, url, message, token, body):
    """A request of DAP's own: status and body."""
    request = urllib.request.Request(url, body, {"DAP-Auth-Token": token,
                                                 "Content-Type": "application/ppm-dap;message=" + message},
                                     method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read()


def opaque(size, raw=b""):
    return len(raw).to_bytes(size, "big") + raw


def job_init_req(profile):
    """One report whose share no key opens: refused, and the answer is stored all the same."""
    init = (os.urandom(16) + struct.pack(">Q", int(time.time()) // PRECISION) + opaque(2) + opaque(4) +
            b"\0" + opaque(2, b"e" * 32) + opaque(4, b"c" * 40) + opaque(4, b"p"))
    if profile == "janus":
        return b"\0" + opaque(4) + b"\1" + opaque(2) + opaque(4, init)
    return b"\0" + opaque(4) + opaque(2) + init


def collection_req(buckets_ago):
    query = b"\1" + opaque(2, struct.pack(">QQ", int(time.time()) // PRECISION - buckets_ago, 1))
    return query, query + opaque(4) + opaque(2)


def share_req(n):
    query, request = collection_req(n + 10)  # not the buckets that the leader is asked for
    return request + query + struct.pack(">Q", 0) + bytes(32)


def ready(url, message, token, body):
    """The answer of a resource that was not ready."""
    for _ in range(1200):
        answer = dap("PUT", url, message, token, body)[1]
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("never ready: " + url)


def check_resources(urls, profile):
    """Draft 18: POST, and the server names what it made. Janus: PUT under an id of the client's; the same id with
    other bytes is a conflict, and never another request's answer."""
    task, tokens = new_task(urls, {"type": "Prio3Count"}, 0, 1)
    kinds = [
        ("leader", "collection_jobs", "collection-job-req", "collector", lambda n: collection_req(n)[1]),
        ("helper", "aggregation_jobs", "aggregation-job-init-req", "leader", lambda n: job_init_req(profile)),
        ("helper", "aggregate_shares", "aggregate-share-req", "leader", share_req),
    ]
    for role, kind, message, whose, make in kinds:
        place = "%stasks/%s/%s" % (task[role], task["task_id"], kind)
        chosen = place + "/" + b64(os.urandom(16))
        body, other = make(1), make(2)
        wanted = [405, 201, 201, 409] if profile == "janus" else [201, 405, 405, 405]
        got = [dap(method, url, message, tokens[whose], raw)
               for method, url, raw in (("POST", place, body), ("PUT", chosen, body), ("PUT", chosen, body),
                                        ("PUT", chosen, other))]
        assert [status for status, _ in got] == wanted, (profile, kind, got)
        if profile == "janus":
            # The batch is empty and may be: a collection of it is ready a moment after it was asked for, or at once.
            first = got[1][1] or ready(chosen, message, tokens[whose], body)
            assert got[2][1] in (got[1][1], first), (kind, "a repetition is answered alike")
            assert dap("PUT", chosen, message, tokens[whose], body)[1] == first, (kind, "for good")
        assert dap("PUT", chosen, message, "x" * 22, body)[0] == 401, kind


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
            check_resources(urls, profile)
        for vdaf, measurements, wanted in CASES:
            if only and vdaf["type"] not in only:
                continue
            for mode in (1, 2):
                run(urls, vdaf, measurements, wanted, mode, mode == 2 and "leader" in others)
                print("%s %s batch mode %d: ok" % (profile, vdaf["type"], mode), flush=True)
    finally:
        for process in processes:
            process.terminate()
        codes = [process.wait(20) for process in processes]
    assert codes == [0] * len(processes), codes


main()
