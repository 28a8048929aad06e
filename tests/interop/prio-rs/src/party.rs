//! One instance of a VDAF that can play client, leader, helper and collector; bytes in, bytes out.

use prio::codec::{Decode, Encode, ParameterizedDecode};
use prio::topology::ping_pong::{PingPongMessage, PingPongState, PingPongTopology};
use prio::vdaf::{Aggregator, Client, Collector};

use crate::request::Misread;
use crate::types::Values;

/// A report that this side refuses. Why is the crate's affair: the protocol only says that it did.
pub struct Refused;

pub struct Shares {
    pub public: Vec<u8>,
    pub leader: Vec<u8>,
    pub helper: Vec<u8>,
}

/// A helper's answer to the leader, and the out share it keeps.
pub struct Finished {
    pub message: Vec<u8>,
    pub out: Vec<u8>,
}

/// A report as one aggregator received it.
pub struct Report {
    pub nonce: [u8; 16],
    pub public: Vec<u8>,
    pub share: Vec<u8>,
}

pub trait Peer {
    fn shard(&self, values: &[u128], nonce: &[u8; 16]) -> Result<Shares, Misread>;
    fn leader_init(&mut self, report: &Report) -> Result<Vec<u8>, Refused>;
    fn helper_init(&self, report: &Report, message: &[u8]) -> Result<Finished, Refused>;
    /// None if no leader is waiting for an answer.
    fn leader_continue(&mut self, message: &[u8]) -> Option<Result<Vec<u8>, Refused>>;
    fn unshard(&self, reports: usize, shares: [&[u8]; 2]) -> Result<Vec<u128>, Misread>;
}

pub struct Party<V: Aggregator<32, 16>> {
    vdaf: V,
    context: Vec<u8>,
    verify_key: [u8; 32],
    leader: Option<V::VerifyState>,
}

/// Any error at all, decoding included, refuses the report.
fn or_refuse<T, E>(result: Result<T, E>) -> Result<T, Refused> {
    result.map_err(|_| Refused)
}

impl<V> Party<V>
where
    V: Values + Client<16> + Aggregator<32, 16> + Collector,
{
    pub fn new(vdaf: V, context: Vec<u8>, verify_key: [u8; 32]) -> Self {
        Self {
            vdaf,
            context,
            verify_key,
            leader: None,
        }
    }

    fn decode(
        &self,
        report: &Report,
        aggregator: usize,
    ) -> Result<(V::PublicShare, V::InputShare), Refused> {
        Ok((
            or_refuse(V::PublicShare::get_decoded_with_param(
                &self.vdaf,
                &report.public,
            ))?,
            or_refuse(V::InputShare::get_decoded_with_param(
                &(&self.vdaf, aggregator),
                &report.share,
            ))?,
        ))
    }
}

impl<V> Peer for Party<V>
where
    V: Values + Client<16> + Aggregator<32, 16> + Collector,
{
    fn shard(&self, values: &[u128], nonce: &[u8; 16]) -> Result<Shares, Misread> {
        let measurement = V::measurement(values)?;
        let (public, inputs) = self
            .vdaf
            .shard(&self.context, &measurement, nonce)
            .map_err(|reason| reason.to_string())?;
        let encoded = |result: Result<Vec<u8>, _>| {
            result.map_err(|reason: prio::codec::CodecError| reason.to_string())
        };

        Ok(Shares {
            public: encoded(public.get_encoded())?,
            leader: encoded(inputs[0].get_encoded())?,
            helper: encoded(inputs[1].get_encoded())?,
        })
    }

    fn leader_init(&mut self, report: &Report) -> Result<Vec<u8>, Refused> {
        self.leader = None;
        let (public, input) = self.decode(report, 0)?;
        let continued = or_refuse(self.vdaf.leader_initialized(
            &self.verify_key,
            &self.context,
            &(),
            &report.nonce,
            &public,
            &input,
        ))?;

        self.leader = Some(continued.verifier_state);
        or_refuse(continued.message.get_encoded())
    }

    fn helper_init(&self, report: &Report, message: &[u8]) -> Result<Finished, Refused> {
        let (public, input) = self.decode(report, 1)?;
        let inbound = or_refuse(PingPongMessage::get_decoded(message))?;
        let continuation = or_refuse(self.vdaf.helper_initialized(
            &self.verify_key,
            &self.context,
            &(),
            &report.nonce,
            &public,
            &input,
            &inbound,
        ))?;

        match or_refuse(continuation.evaluate(&self.context, &self.vdaf))? {
            PingPongState::FinishedWithOutbound {
                output_share,
                message,
            } => Ok(Finished {
                message: or_refuse(message.get_encoded())?,
                out: or_refuse(output_share.get_encoded())?,
            }),
            _ => Err(Refused),
        }
    }

    fn leader_continue(&mut self, message: &[u8]) -> Option<Result<Vec<u8>, Refused>> {
        let state = self.leader.take()?;
        let finish = || {
            let inbound = or_refuse(PingPongMessage::get_decoded(message))?;
            let continuation =
                or_refuse(
                    self.vdaf
                        .leader_continued(&self.context, &(), state, &inbound),
                )?;

            match or_refuse(continuation.evaluate(&self.context, &self.vdaf))? {
                PingPongState::Finished { output_share } => or_refuse(output_share.get_encoded()),
                _ => Err(Refused),
            }
        };

        Some(finish())
    }

    fn unshard(&self, reports: usize, shares: [&[u8]; 2]) -> Result<Vec<u128>, Misread> {
        let decoded = shares
            .iter()
            .map(|wire| V::AggregateShare::get_decoded_with_param(&(&self.vdaf, &()), wire))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|reason| reason.to_string())?;
        let result = self
            .vdaf
            .unshard(&(), decoded, reports)
            .map_err(|reason| reason.to_string())?;

        Ok(V::result(&result))
    }
}
