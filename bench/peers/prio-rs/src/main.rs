//! prio-bench [--filter F] [--seconds S]: the crate prio on the work that sotto-bench times.
//!
//! One JSON object a line; names are `prio-rs/<work>/<type>`. A case takes about S seconds (1.0) and
//! runs if its name contains F. The caller pins the process to a core.

mod timing;
mod work;

use std::process::ExitCode;

use prio::vdaf::prio3::Prio3;
use timing::Timer;
use work::Bench;

const SHARES: u8 = 2;

/// Spreads i over 0..length.
fn bucket(i: usize, length: usize) -> usize {
    (i * 7919 + 13) % length
}

fn run_all(timer: &Timer) {
    Bench::run(timer, "Count", Prio3::new_count(SHARES).unwrap(), |i| {
        i % 2 == 1
    });
    Bench::run(
        timer,
        "Sum-32",
        Prio3::new_sum(SHARES, u32::MAX.into()).unwrap(),
        |i| (i as u64 + 1).wrapping_mul(0x9e37_79b9) & 0xffff_ffff,
    );
    for (name, length, chunk) in [
        ("Histogram-100", 100, 10),
        ("Histogram-1000", 1000, 32),
        ("Histogram-10000", 10000, 100),
    ] {
        let vdaf = Prio3::new_histogram(SHARES, length, chunk).unwrap();

        Bench::run(timer, name, vdaf, move |i| bucket(i, length));
    }
    Bench::run(
        timer,
        "SumVec-1bit-10000",
        Prio3::new_sum_vec(SHARES, 1, 10000, 100).unwrap(),
        |i| (0..10000).map(|j| ((i + j) % 3 == 0).into()).collect(),
    );
    Bench::run(
        timer,
        "Multihot-1000",
        Prio3::new_multihot_count_vec(SHARES, 1000, 5, 32).unwrap(),
        |i| {
            let mut hot = vec![false; 1000];

            for j in 0..i % 6 {
                hot[bucket(i + 64 * j, 1000)] = true;
            }
            hot
        },
    );
}

fn options() -> Option<Timer> {
    let mut timer = Timer {
        seconds: 1.0,
        filter: String::new(),
    };
    let mut words = std::env::args().skip(1);

    while let Some(word) = words.next() {
        match word.as_str() {
            "--filter" => timer.filter = words.next()?,
            "--seconds" => timer.seconds = words.next()?.parse().ok()?,
            _ => return None,
        }
    }
    (timer.seconds > 0.0).then_some(timer)
}

fn main() -> ExitCode {
    match options() {
        Some(timer) => {
            run_all(&timer);
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: prio-bench [--filter F] [--seconds S]");
            ExitCode::from(2)
        }
    }
}
