"""check_ins.py SOTTO DATA SVG: schedules of training at equal epsilon, as a table in Markdown and curves in SVG.

Each schedule has the same number of steps and the least noise that keeps epsilon, and in each a device takes part once on average or less.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

COLOURS = {"fix": "#b5423c", "avg": "#2f6db0", "sldw": "#3d8a4e", "donation": "#8a5aa8", "poisson": "#555555"}
LOCAL = ["--epochs", "5", "--batch", "5", "--rate", "0.1", "--clip", "0.5"]
CONVEX = ["--algorithm", "fedsgd", "--clip", "2", "--diameter", "10", "--step-size"]


def schedules(users, steps):
    """Options of each schedule with so many steps."""
    batch, window = max(1, users // steps // 3), max(1, steps // 4)
    return {"fix": ["--slots", steps * batch, "--per-step", batch],
            "avg": ["--slots", steps],
            "sldw": ["--slots", window, "--cohort", users // (steps + window - 1)],
            "donation": ["--slots", steps],
            "poisson": ["--rounds", steps, "--cohort", max(1, users // steps)]}


def run(args, model, schedule, options, seed):
    with tempfile.TemporaryDirectory() as folder:
        curve = os.path.join(folder, "curve.csv")
        command = [args.sotto, "sim", "learn", "--quiet", "--json", "--data", args.data, "--model", model, "--schedule", schedule,
                   "--epsilon", args.epsilon, "--delta", args.delta, "--evaluate", max(1, args.steps // 8), "--seed", seed, "--out", curve]
        done = subprocess.run([str(word) for word in command + options], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"check_ins.py: {' '.join(map(str, command + options))}: {done.stderr}")
        with open(curve, encoding="utf-8") as rows:
            points = [[float(x) for x in row.split(",")[:3]] for row in rows.readlines()[1:]]
    return json.loads(done.stdout), points


def spread(values):
    values = [100 * value for value in values]
    return f"{statistics.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def row(args, model, schedule, what, options):
    runs = [run(args, model, schedule, options, seed) for seed in range(1, args.seeds + 1)]
    first = runs[0][0]
    noise = f"{first['noise']:.3f}" if first["noise"] > 0 else f"local {first['local_epsilon']:.3f}"
    reports = statistics.mean(result["reports"] for result, _ in runs) / first["rounds"]
    epsilon = math.ceil(first["epsilon"] * 1000) / 1000
    print(f"| {model} | `{schedule}` | {what} | {noise} | {first['rounds']} | {reports:.1f} | {epsilon:.3f} | "
          f"{spread([result['accuracy'] for result, _ in runs])} |", flush=True)
    return [(at[0][0], statistics.mean(point[2] for point in at)) for at in zip(*(points for _, points in runs))]


def panel(left, title, curves, steps):
    wide, high, top = 330, 220, 40
    out = [f'<g transform="translate({left},{top})"><text x="0" y="-12" font-weight="bold">{title}</text>',
           f'<rect width="{wide}" height="{high}" fill="none" stroke="#999"/>']
    for i in range(6):
        y = high - high * i / 5
        out.append(f'<line x1="0" x2="{wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{20 * i}%</text>')
    for i in range(5):
        out.append(f'<text x="{wide * i / 4:.1f}" y="{high + 16}" text-anchor="middle">{steps * i // 4}</text>')
    for name, points in curves.items():
        path = " ".join(f"{wide * x / steps:.1f},{high - high * y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.8"/>')
    return "\n".join(out + [f'<text x="{wide / 2}" y="{high + 34}" text-anchor="middle">steps</text></g>'])


def draw(args, panels):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {60 + 400 * len(panels)} 330" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>']
    for i, (model, curves) in enumerate(panels.items()):
        out.append(panel(50 + 400 * i, f"{model}: accuracy at epsilon {args.epsilon:g}, delta {args.delta:g}", curves, args.steps))
    for i, (name, colour) in enumerate(COLOURS.items()):
        out.append(f'<line x1="{50 + 110 * i}" x2="{74 + 110 * i}" y1="316" y2="316" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{80 + 110 * i}" y="320">{name}</text>')
    with open(args.svg, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sotto")
    parser.add_argument("data")
    parser.add_argument("svg")
    parser.add_argument("--users", type=int, default=6000, help="of the data")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=4)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--models", default="logistic,lenet")
    args = parser.parse_args()
    laws = schedules(args.users, args.steps)
    print("| model | schedule | steps by | noise | steps | devices a step | epsilon | accuracy, % |\n|---|---|---|---|---|---|---|---|")
    panels = {}
    for model in args.models.split(","):
        panels[model] = {name: row(args, model, name, "FedAvg", options + LOCAL) for name, options in laws.items()}
        if model != "logistic":
            continue
        row(args, model, "fix", "Theorem 3.5", laws["fix"] + CONVEX + ["theorem-3.5"])
        row(args, model, "avg", "Theorem 4.2", laws["avg"] + CONVEX + ["theorem-4.2"])
        row(args, model, "avg", "Theorem 4.2, smooth", laws["avg"] + CONVEX + ["theorem-4.2-smooth", "--smooth", "50"])
        for name in ("fix", "avg", "sldw", "donation"):
            options = laws["avg" if name == "avg" else "fix"]
            row(args, model, name, "FedAvg, one-bit reports", options + LOCAL + ["--randomizer", "one-bit"])
    draw(args, panels)


main()
