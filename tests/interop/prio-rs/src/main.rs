//! prio-peer: an independent Prio3 for the interoperability test, driven line by line.
//!
//! Requests come on standard input and answers go to standard output, one line each:
//!
//!     vdaf type=T [length=] [chunk=] [max=] [proofs=] ctx= verify_key=   -> ok
//!     shard measurement=v[,v...] nonce=           -> ok public= leader= helper=
//!     leader_init nonce= public= share=           -> ok message=          | reject
//!     helper_init nonce= public= share= message=  -> ok message= out=     | reject
//!     leader_continue message=                    -> ok out=              | reject
//!     unshard reports=N leader= helper=           -> ok result=v[,v...]
//!     version                                     -> ok prio=0.18.1
//!
//! T is count, sum, sumvec, histogram, multihot, l1boundsum or sumvecmultiproof, each with the
//! parameters it has. `vdaf` replaces the instance; leader_init keeps one state, which
//! leader_continue uses up. Anything that is not a well-formed request answers `error <sentence>`.

mod party;
mod request;
mod types;

use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

use party::{Peer, Refused, Report};
use request::{hex_encode, Misread, Request};

const VERSION: &str = "ok prio=0.18.1";

fn report(request: &mut Request) -> Result<Report, Misread> {
    Ok(Report {
        nonce: request.array("nonce")?,
        public: request.bytes("public")?,
        share: request.bytes("share")?,
    })
}

fn ok_or_reject(result: Result<String, Refused>) -> String {
    result.unwrap_or_else(|Refused| "reject".into())
}

fn shard(peer: &dyn Peer, mut request: Request) -> Result<String, Misread> {
    let values = request.numbers("measurement")?;
    let nonce = request.array("nonce")?;

    request.finish()?;
    let shares = peer.shard(&values, &nonce)?;
    Ok(format!(
        "ok public={} leader={} helper={}",
        hex_encode(&shares.public),
        hex_encode(&shares.leader),
        hex_encode(&shares.helper)
    ))
}

fn leader_init(peer: &mut dyn Peer, mut request: Request) -> Result<String, Misread> {
    let report = report(&mut request)?;

    request.finish()?;
    Ok(ok_or_reject(peer.leader_init(&report).map(|message| {
        format!("ok message={}", hex_encode(&message))
    })))
}

fn helper_init(peer: &dyn Peer, mut request: Request) -> Result<String, Misread> {
    let report = report(&mut request)?;
    let message = request.bytes("message")?;

    request.finish()?;
    Ok(ok_or_reject(peer.helper_init(&report, &message).map(
        |done| {
            format!(
                "ok message={} out={}",
                hex_encode(&done.message),
                hex_encode(&done.out)
            )
        },
    )))
}

fn leader_continue(peer: &mut dyn Peer, mut request: Request) -> Result<String, Misread> {
    let message = request.bytes("message")?;

    request.finish()?;
    let out = peer
        .leader_continue(&message)
        .ok_or("no leader is waiting")?;
    Ok(ok_or_reject(
        out.map(|out| format!("ok out={}", hex_encode(&out))),
    ))
}

fn unshard(peer: &dyn Peer, mut request: Request) -> Result<String, Misread> {
    let reports = request.number("reports")?;
    let leader = request.bytes("leader")?;
    let helper = request.bytes("helper")?;

    request.finish()?;
    let result = peer.unshard(reports, [&leader, &helper])?;
    let words: Vec<String> = result.iter().map(u128::to_string).collect();
    Ok(format!("ok result={}", words.join(",")))
}

fn answer(peer: &mut Option<Box<dyn Peer>>, line: &str) -> Result<String, Misread> {
    let mut request = Request::parse(line)?;

    match request.verb {
        "version" => {
            request.finish()?;
            return Ok(VERSION.into());
        }
        "vdaf" => {
            *peer = None;
            let built = types::build(&mut request)?;
            request.finish()?;
            *peer = Some(built);
            return Ok("ok".into());
        }
        _ => (),
    }
    let peer = peer.as_mut().ok_or("no vdaf has been chosen")?.as_mut();
    match request.verb {
        "shard" => shard(peer, request),
        "leader_init" => leader_init(peer, request),
        "helper_init" => helper_init(peer, request),
        "leader_continue" => leader_continue(peer, request),
        "unshard" => unshard(peer, request),
        verb => Err(format!("no verb '{verb}'")),
    }
}

/// The crate panics on some bad input (a bucket beyond a histogram's last, for one). The test should
/// read that as an answer; the instance may be broken after it and is given up.
fn answer_or_error(peer: &mut Option<Box<dyn Peer>>, line: &str) -> String {
    match catch_unwind(AssertUnwindSafe(|| answer(peer, line))) {
        Ok(Ok(said)) => said,
        Ok(Err(reason)) => format!("error {reason}"),
        Err(_) => {
            *peer = None;
            "error the crate panicked".into()
        }
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut peer = None;

    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer_or_error(&mut peer, &line?))?;
        out.flush()?;
    }
    Ok(())
}
