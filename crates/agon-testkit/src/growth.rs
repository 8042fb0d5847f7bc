//! How time grows with the size of an input.

use std::time::Duration;

/// Times below this say nothing about growth.
const SHORT: Duration = Duration::from_millis(5);

/// Asserts that the time of `work` grows at most with the power `exponent` of the size: 1 is
/// proportional, 2 is quadratic.
///
/// The two sizes should be far apart, so that the caches of the machine and other work on it weigh
/// little: a noise of factor two is a third of a power at a distance of eight. Only the processor
/// time of this thread counts, and only the best of several measurements. Where the larger size
/// takes less than a few milliseconds, nothing is compared.
///
/// # Panics
///
/// Panics if the time grows faster.
#[track_caller]
pub fn assert_growth<T>(
    exponent: f64,
    sizes: [usize; 2],
    make: impl Fn(usize) -> T,
    work: impl Fn(&T),
) {
    let inputs = sizes.map(make);
    let limit = libm::pow(sizes[1] as f64 / sizes[0] as f64, exponent);
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (input, best) in inputs.iter().zip(&mut best) {
            let began = processor_time();
            work(input);
            *best = (processor_time() - began).min(*best);
        }
        if best[1] < SHORT || best[1].as_secs_f64() <= limit * best[0].as_secs_f64() {
            return;
        }
    }
    panic!("{best:?} at sizes {sizes:?}; at most {limit:.1} times is allowed");
}

/// Returns the time that this thread has been running, without the time it waited for a processor.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("processor time is not negative")
}

/// Returns the time since the first call, where the system does not tell more.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::assert_growth;

    fn count_pairs(n: &usize) {
        let mut found = 0_u64;
        for i in 0..*n {
            for j in 0..*n {
                found += std::hint::black_box((i ^ j) as u64) & 1;
            }
        }
        std::hint::black_box(found);
    }

    #[test]
    fn quadratic_work_is_quadratic() {
        assert_growth(2.5, [2000, 16_000], |n| n, count_pairs);
    }

    #[test]
    #[should_panic(expected = "at most 22.6 times is allowed")]
    fn quadratic_work_is_not_linear() {
        assert_growth(1.5, [2000, 16_000], |n| n, count_pairs);
    }
}
