//! A running mean.

/// A mean with the number of values that it is the mean of.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Average {
    pub(crate) n: f32,
    pub(crate) mean: f32,
}

impl Average {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.mean += (value as f32 - self.mean) / self.n;
    }
}
