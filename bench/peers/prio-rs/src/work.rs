//! The four pieces of work, for any measurement type. Every operation decodes what it received from
//! bytes and takes the next of 64 different reports, so that nothing is found in a cache by luck.

use std::hint::black_box;

use prio::codec::{Decode, Encode, ParameterizedDecode};
use prio::topology::ping_pong::{PingPongMessage, PingPongState, PingPongTopology};
use prio::vdaf::{Aggregatable, Aggregator, Client, Vdaf, VerifyTransition};

use crate::timing::Timer;

const REPORTS: usize = 64;
const VERIFY_KEY: [u8; 32] = [0x5a; 32];
/// As long as DAP's: a six byte tag and a task id.
const CONTEXT: &[u8; 38] = b"dap-18 a task id is thirty-two bytes  ";

struct Report<V: Aggregator<32, 16>> {
    measurement: V::Measurement,
    nonce: [u8; 16],
    public: Vec<u8>,
    leader: Vec<u8>,
    helper: Vec<u8>,
    /// What the helper receives from the leader, and what both sides' shares combine to.
    leader_message: Vec<u8>,
    verifier_message: V::VerifierMessage,
}

pub struct Bench<'a, V: Aggregator<32, 16>> {
    timer: &'a Timer,
    name: &'a str,
    vdaf: V,
    reports: Vec<Report<V>>,
}

fn encoded(item: &impl Encode) -> Vec<u8> {
    item.get_encoded().expect("encodes")
}

impl<'a, V> Bench<'a, V>
where
    V: Vdaf<AggregationParam = ()> + Client<16> + Aggregator<32, 16>,
{
    /// Makes the reports outside of any timed part; nothing at all if no case is wanted.
    pub fn run(
        timer: &'a Timer,
        name: &'a str,
        vdaf: V,
        measure: impl Fn(usize) -> V::Measurement,
    ) {
        let work = ["helper", "helper_whole", "leader_init", "shard"];

        if !work.iter().any(|w| timer.wants(&format!("{w}/{name}"))) {
            return;
        }
        let reports = (0..REPORTS)
            .map(|i| Self::report(&vdaf, measure(i), i))
            .collect();
        let bench = Self {
            timer,
            name,
            vdaf,
            reports,
        };

        bench.helper();
        bench.helper_whole();
        bench.leader_init();
        bench.shard();
    }

    fn report(vdaf: &V, measurement: V::Measurement, index: usize) -> Report<V> {
        let nonce = (0x0123_4567_89ab_cdef_u128.wrapping_mul(index as u128 + 1)).to_le_bytes();
        let (public, inputs) = vdaf.shard(CONTEXT, &measurement, &nonce).expect("shards");
        let init = |aggregator: usize| {
            vdaf.verify_init(
                &VERIFY_KEY,
                CONTEXT,
                aggregator,
                &(),
                &nonce,
                &public,
                &inputs[aggregator],
            )
            .expect("verifies")
            .1
        };
        let (leader_share, helper_share) = (init(0), init(1));
        let leader_message = PingPongMessage::Initialize {
            verifier_share: encoded(&leader_share),
        };

        Report {
            measurement,
            nonce,
            public: encoded(&public),
            leader: encoded(&inputs[0]),
            helper: encoded(&inputs[1]),
            leader_message: encoded(&leader_message),
            verifier_message: vdaf
                .verifier_shares_to_message(CONTEXT, &(), [leader_share, helper_share])
                .expect("the proof holds"),
        }
    }

    fn time(&self, work: &str, operation: impl FnMut(usize)) {
        let name = format!("{work}/{}", self.name);

        if self.timer.wants(&name) {
            self.timer.time(&name, REPORTS, operation);
        }
    }

    fn decode(
        &self,
        report: &Report<V>,
        aggregator: usize,
        share: &[u8],
    ) -> (V::PublicShare, V::InputShare) {
        (
            V::PublicShare::get_decoded_with_param(&self.vdaf, &report.public).expect("decodes"),
            V::InputShare::get_decoded_with_param(&(&self.vdaf, aggregator), share)
                .expect("decodes"),
        )
    }

    /// verify_init, verify_next and accumulate, with the verifier message at hand.
    fn helper(&self) {
        let mut sum = self.vdaf.aggregate_init(&());

        self.time("helper", |i| {
            let report = &self.reports[i % REPORTS];
            let (public, input) = self.decode(report, 1, &report.helper);
            let (state, share) = self
                .vdaf
                .verify_init(&VERIFY_KEY, CONTEXT, 1, &(), &report.nonce, &public, &input)
                .expect("verifies");

            black_box(&share);
            match self
                .vdaf
                .verify_next(CONTEXT, state, report.verifier_message.clone())
                .expect("verifies")
            {
                VerifyTransition::Finish(out) => sum.accumulate(&out).expect("adds"),
                VerifyTransition::Continue(..) => unreachable!("Prio3 has one round"),
            }
        });
        black_box(&sum);
    }

    /// All that a helper does for one report in the ping-pong topology, its answer included.
    fn helper_whole(&self) {
        let mut sum = self.vdaf.aggregate_init(&());

        self.time("helper_whole", |i| {
            let report = &self.reports[i % REPORTS];
            let (public, input) = self.decode(report, 1, &report.helper);
            let inbound = PingPongMessage::get_decoded(&report.leader_message).expect("decodes");
            let continuation = self
                .vdaf
                .helper_initialized(
                    &VERIFY_KEY,
                    CONTEXT,
                    &(),
                    &report.nonce,
                    &public,
                    &input,
                    &inbound,
                )
                .expect("verifies");

            match continuation
                .evaluate(CONTEXT, &self.vdaf)
                .expect("verifies")
            {
                PingPongState::FinishedWithOutbound {
                    output_share,
                    message,
                } => {
                    black_box(encoded(&message));
                    sum.accumulate(&output_share).expect("adds");
                }
                _ => unreachable!("the helper is done after one message"),
            }
        });
        black_box(&sum);
    }

    fn leader_init(&self) {
        self.time("leader_init", |i| {
            let report = &self.reports[i % REPORTS];
            let (public, input) = self.decode(report, 0, &report.leader);

            black_box(
                self.vdaf
                    .verify_init(&VERIFY_KEY, CONTEXT, 0, &(), &report.nonce, &public, &input)
                    .expect("verifies"),
            );
        });
    }

    /// The crate draws its randomness inside shard; the nonce comes from outside.
    fn shard(&self) {
        self.time("shard", |i| {
            let report = &self.reports[i % REPORTS];
            let (public, inputs) = self
                .vdaf
                .shard(CONTEXT, &report.measurement, &report.nonce)
                .expect("shards");

            black_box(encoded(&public));
            for input in &inputs {
                black_box(encoded(input));
            }
        });
    }
}
