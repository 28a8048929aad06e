//! Medians of thread CPU time, printed as one JSON object a line.

/// Odd, so that the median is a sample.
const SAMPLES: usize = 21;

pub struct Timer {
    pub seconds: f64,
    pub filter: String,
}

/// Time this thread has run: what other processes take from the core does not count.
fn thread_cpu_ns() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec for the call to write.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };

    assert_eq!(status, 0, "no clock for thread CPU time");
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn ns_per_op(ops: usize, next: &mut usize, work: &mut impl FnMut(usize)) -> f64 {
    let start = thread_cpu_ns();

    for _ in 0..ops {
        work(*next);
        *next += 1;
    }
    (thread_cpu_ns() - start) / ops as f64
}

impl Timer {
    pub fn wants(&self, name: &str) -> bool {
        format!("prio-rs/{name}").contains(&self.filter)
    }

    /// `work` is called with 0, 1, 2, ... and picks its report by that number.
    pub fn time(&self, name: &str, reports: usize, mut work: impl FnMut(usize)) {
        let mut next = 0;
        let budget = self.seconds * 1e9 / SAMPLES as f64;
        // Doubling until a run fills a sample also warms caches and branch predictors.
        let mut ops = 1;
        let mut cost = ns_per_op(ops, &mut next, &mut work);

        while cost * ops as f64 * 2.0 < budget {
            ops *= 2;
            cost = ns_per_op(ops, &mut next, &mut work);
        }
        ops = ((budget / cost) as usize).max(1);

        let mut samples: Vec<f64> = (0..SAMPLES)
            .map(|_| ns_per_op(ops, &mut next, &mut work))
            .collect();
        samples.sort_by(f64::total_cmp);
        let median = samples[SAMPLES / 2];

        println!(
            "{{\"name\":\"prio-rs/{name}\",\"ns_per_op\":{median:.1},\"ops_per_s\":{:.1},\
             \"reports\":{reports},\"samples\":{SAMPLES}}}",
            1e9 / median
        );
    }
}
