/* device/answer/measure.h - from a bin to the numbers of a report: randomised, or with this device's part of the noise, or as they are.
 *
 * Callers:  answer.c.
 * Secrets:  bin and numbers. Every path over them is constant-time.
 */
#ifndef SOTTO_DEVICE_MEASURE_H
#define SOTTO_DEVICE_MEASURE_H

#include "dap/report_many.h"
#include "noise/noise.h"
#include "recipe/content.h"

/* The measurement that is sharded for a bin, or for SOTTO_NO_VALUE, in the arena.
 *   bits  the randomised bits, one a byte, which the person's record keeps; empty where nothing was randomised, since
 *         values themselves are not kept */
SOTTO_MUST_USE sotto_status sotto_measure(sotto_measurement *out, sotto_bytes *bits,
                                          const sotto_report_content *content, uint64_t bin,
                                          sotto_entropy *entropy, sotto_arena *arena,
                                          sotto_err *err);
/* The same with noise that was set up before, for a simulation that measures many times: num/den of the content, by
 * sotto_noise_skellam. NULL: it is set up here. */
SOTTO_MUST_USE sotto_status sotto_measure_with(sotto_measurement *out, sotto_bytes *bits,
                                               const sotto_report_content *content,
                                               const sotto_noise *noise, uint64_t bin,
                                               sotto_entropy *entropy, sotto_arena *arena,
                                               sotto_err *err);

#endif
