//! What the crate's one quadratic step costs: recovering the gadget polynomial's last value.
//!
//! Version 0.18.1 interpolates it with about n^2 multiplications, where one dot product would do. The step
//! can't be called from outside, so this does as many operations of the crate's own fields, in the
//! same order of dependence. Subtracted from a verification, it says what remains of a lead once the
//! crate mends it.

use std::hint::black_box;

use prio::field::{Field128, Field64, NttFriendlyFieldElement};

use crate::timing::Timer;

fn quadratic<F: NttFriendlyFieldElement>(roots: &[F], values: &[F]) -> F {
    let known = values.len();
    let others = |i: usize| (0..known).filter(move |j| *j != i);
    let mut weights: Vec<F> = (0..known)
        .map(|i| others(i).fold(F::one(), |product, j| product * (roots[i] - roots[j])))
        .collect();
    let (mut above, mut below) = (F::zero(), F::one());

    for (weight, root) in weights.iter_mut().zip(roots) {
        *weight *= *root - roots[known];
    }
    for (weight, value) in weights.iter().zip(values) {
        above = above * *weight + below * *value;
        below *= *weight;
    }
    let last = others(known).fold(F::one(), |product, j| product * (roots[known] - roots[j]));
    -last * above * below.inv()
}

fn run_one<F: NttFriendlyFieldElement>(timer: &Timer, name: &str, nodes: usize) {
    let name = format!("quadratic-step/{name}");
    let roots: Vec<F> = F::random_vector(nodes);
    let values: Vec<F> = F::random_vector(nodes - 1);

    if timer.wants(&name) {
        timer.time(&name, 1, |_| {
            black_box(quadratic(black_box(&roots), black_box(&values)));
        });
    }
}

pub fn run(timer: &Timer) {
    run_one::<Field64>(timer, "Count", 4);
    run_one::<Field64>(timer, "Sum-32", 128);
    run_one::<Field128>(timer, "Histogram-100", 32);
    run_one::<Field128>(timer, "Histogram-1000", 128);
    run_one::<Field128>(timer, "Histogram-10000", 256);
    run_one::<Field128>(timer, "SumVec-1bit-10000", 256);
    run_one::<Field128>(timer, "Multihot-1000", 128);
}
