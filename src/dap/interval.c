/* Time as DAP counts it: in units of the task's precision. */
#include "dap/dap.h"

uint64_t sotto_dap_time_of(uint64_t seconds, uint64_t precision)
{
    return seconds / precision;
}

bool sotto_dap_seconds_of(uint64_t *seconds, uint64_t time, uint64_t precision)
{
    if (precision != 0 && time > UINT64_MAX / precision)
        return false;
    *seconds = time * precision;
    return true;
}

bool sotto_dap_interval_valid(sotto_dap_interval interval)
{
    return interval.duration > 0 && interval.duration <= UINT64_MAX - interval.start;
}

/* By differences: start + duration of an interval that is not valid would wrap. */
bool sotto_dap_interval_holds(sotto_dap_interval interval, uint64_t time)
{
    return time >= interval.start && time - interval.start < interval.duration;
}

bool sotto_dap_interval_within(sotto_dap_interval inner, sotto_dap_interval outer)
{
    return inner.start >= outer.start && inner.duration <= outer.duration &&
           inner.start - outer.start <= outer.duration - inner.duration;
}

void sotto_dap_interval_read(sotto_reader *in, sotto_dap_interval *out)
{
    out->start = sotto_read_uint(in, 8);
    out->duration = sotto_read_uint(in, 8);
}

void sotto_dap_interval_write(sotto_writer *w, sotto_dap_interval interval)
{
    sotto_write_uint(w, interval.start, 8);
    sotto_write_uint(w, interval.duration, 8);
}
