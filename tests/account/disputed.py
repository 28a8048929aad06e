#!/usr/bin/env python3
"""disputed.py: evaluates two reference rows again, by methods that the accountant does not use.

docs/decisions/0014-reference-rows-we-dispute.md has the story. Needs numpy, scipy and mpmath.
"""
from math import exp

import mpmath as mp
import numpy as np
from scipy.special import ndtr


def allocation_delta(sigma, slots, epsilon, step, cells):
    """One secret slot of many, Gaussian noise, remove: E[(S/t - e^eps)+], S a sum of lognormals of mean 1.

    The law of one lognormal is put on a lattice by its exact cell masses and convolved with itself by FFT.
    """
    edges = (np.arange(cells + 1) - 0.5) * step
    edges[0] = 0
    z = np.full(cells + 1, -np.inf)
    z[1:] = (sigma**2 * np.log(edges[1:]) + 0.5) / sigma
    masses = np.where(z[:-1] < 0, np.diff(ndtr(z)), ndtr(-z[:-1]) - ndtr(-z[1:]))
    law = np.fft.irfft(np.fft.rfft(masses) ** slots, n=cells)
    sums = np.arange(cells) * step
    return float((np.maximum(sums - slots * exp(epsilon), 0) * law).sum() / slots)


def renyi(q, sigma, alpha, step, low, high):
    """Renyi divergence of the Gaussian from the mixture (1-q) N(0) + q N(1): a plain trapezoid."""
    mp.mp.dps = 50
    q, sigma, alpha, step = mp.mpf(q), mp.mpf(sigma), mp.mpf(alpha), mp.mpf(step)

    def integrand(x):
        ratio = 1 + q * mp.expm1((2 * x - 1) / (2 * sigma**2))
        log_density = -x * x / (2 * sigma**2) - mp.log(sigma * mp.sqrt(2 * mp.pi))
        return mp.exp(log_density + (1 - alpha) * mp.log(ratio))

    total = sum(integrand(step * k) for k in range(int(low / step), int(high / step)))
    return mp.log(total * step) / (alpha - 1)


def main():
    for step, cells in ((0.01, 2**21), (0.005, 2**22), (0.0025, 2**23)):
        at = [allocation_delta(0.8, 100, eps, step, cells) for eps in (1.87473004677, 1.8747797047)]
        print(f"allocation, step {step}: delta {at[0]:.7e} at the table's epsilon, {at[1]:.7e} at ours")
    print("Renyi, whole mass:", mp.nstr(renyi("0.5", "5.1", 512, "0.1", -300, 150), 17))
    print("Renyi, cut off:   ", mp.nstr(renyi("0.5", "5.1", 512, "0.1", -62, 70), 17))


if __name__ == "__main__":
    main()
