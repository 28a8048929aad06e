//! The seven measurement types: how each is built, and how its values read and print.

use prio::field::Field64;
use prio::flp::gadgets::{Mul, ParallelSum};
use prio::flp::types::SumVec;
use prio::vdaf::prio3::{
    Prio3, Prio3Count, Prio3Histogram, Prio3L1BoundSum, Prio3MultihotCountVec, Prio3Sum,
    Prio3SumVec,
};
use prio::vdaf::xof::XofTurboShake128;
use prio::vdaf::{Vdaf, VdafError};

use crate::party::{Party, Peer};
use crate::request::{Misread, Request};

/// The crate has no name of its own for it; the identifier is that of the draft's test vectors.
type Prio3SumVecWithMultiproof =
    Prio3<SumVec<Field64, ParallelSum<Field64, Mul>>, XofTurboShake128, 32>;
const MULTIPROOF_ID: u32 = 0xffff_ffff;

const SHARES: u8 = 2;

/// Values as they stand in a request: every number is a u128 there.
pub trait Values: Vdaf<AggregationParam = ()> {
    fn measurement(values: &[u128]) -> Result<Self::Measurement, Misread>;
    fn result(result: &Self::AggregateResult) -> Vec<u128>;
}

fn single<T: TryFrom<u128>>(values: &[u128]) -> Result<T, Misread> {
    match values {
        [value] => narrow(*value),
        _ => Err("the measurement is not one value".into()),
    }
}

fn narrow<T: TryFrom<u128>>(value: u128) -> Result<T, Misread> {
    T::try_from(value).map_err(|_| format!("{value} is too large"))
}

fn bit(value: u128) -> Result<bool, Misread> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(format!("{value} is neither 0 nor 1")),
    }
}

impl Values for Prio3Count {
    fn measurement(values: &[u128]) -> Result<bool, Misread> {
        bit(single(values)?)
    }
    fn result(result: &u64) -> Vec<u128> {
        vec![(*result).into()]
    }
}

impl Values for Prio3Sum {
    fn measurement(values: &[u128]) -> Result<u64, Misread> {
        single(values)
    }
    fn result(result: &u64) -> Vec<u128> {
        vec![(*result).into()]
    }
}

impl Values for Prio3SumVec {
    fn measurement(values: &[u128]) -> Result<Vec<u128>, Misread> {
        Ok(values.to_vec())
    }
    fn result(result: &Vec<u128>) -> Vec<u128> {
        result.clone()
    }
}

impl Values for Prio3Histogram {
    fn measurement(values: &[u128]) -> Result<usize, Misread> {
        single(values)
    }
    fn result(result: &Vec<u128>) -> Vec<u128> {
        result.clone()
    }
}

impl Values for Prio3MultihotCountVec {
    fn measurement(values: &[u128]) -> Result<Vec<bool>, Misread> {
        values.iter().map(|value| bit(*value)).collect()
    }
    fn result(result: &Vec<u128>) -> Vec<u128> {
        result.clone()
    }
}

impl Values for Prio3L1BoundSum {
    fn measurement(values: &[u128]) -> Result<Vec<u128>, Misread> {
        Ok(values.to_vec())
    }
    fn result(result: &Vec<u128>) -> Vec<u128> {
        result.clone()
    }
}

impl Values for Prio3SumVecWithMultiproof {
    fn measurement(values: &[u128]) -> Result<Vec<u64>, Misread> {
        values.iter().map(|value| narrow(*value)).collect()
    }
    fn result(result: &Vec<u64>) -> Vec<u128> {
        result.iter().map(|value| (*value).into()).collect()
    }
}

/// Each type reads the parameters it has; the request is then checked to hold no others.
pub fn build(request: &mut Request) -> Result<Box<dyn Peer>, Misread> {
    let kind = request.text("type")?;
    let context = request.bytes("ctx")?;
    let verify_key = request.array("verify_key")?;
    let refused = |reason: VdafError| format!("{kind} refused: {reason}");

    macro_rules! party {
        ($vdaf:expr) => {
            Ok(Box::new(Party::new(
                $vdaf.map_err(refused)?,
                context,
                verify_key,
            )))
        };
    }
    match kind {
        "count" => party!(Prio3::new_count(SHARES)),
        "sum" => party!(Prio3::new_sum(SHARES, request.number("max")?)),
        "sumvec" => party!(Prio3::new_sum_vec(
            SHARES,
            request.number("max")?,
            request.number("length")?,
            request.number("chunk")?,
        )),
        "histogram" => party!(Prio3::new_histogram(
            SHARES,
            request.number("length")?,
            request.number("chunk")?,
        )),
        "multihot" => party!(Prio3::new_multihot_count_vec(
            SHARES,
            request.number("length")?,
            request.number("max")?,
            request.number("chunk")?,
        )),
        "l1boundsum" => party!(Prio3::new_l1_bound_sum(
            SHARES,
            request.number("max")?,
            request.number("length")?,
            request.number("chunk")?,
        )),
        "sumvecmultiproof" => party!(multiproof(request)?),
        _ => Err(format!("no type '{kind}'")),
    }
}

fn multiproof(
    request: &mut Request,
) -> Result<Result<Prio3SumVecWithMultiproof, VdafError>, Misread> {
    let proofs = request.number("proofs")?;
    let max = request.number("max")?;
    let length = request.number("length")?;
    let chunk = request.number("chunk")?;

    Ok(SumVec::new(max, length, chunk)
        .map_err(VdafError::from)
        .and_then(|sums| Prio3::new(SHARES, proofs, MULTIPROOF_ID, sums)))
}
