/* recipe/calendar.h - times and durations as recipes write them, without a time zone or a locale. */
#ifndef SOTTO_RECIPE_CALENDAR_H
#define SOTTO_RECIPE_CALENDAR_H

#include "sotto/base.h"

#define SOTTO_CALENDAR_TEXT 21 /* bytes of a time, the ending 0 included */

/* YYYY-MM-DDThh:mm:ssZ from 1970 to 9999, nothing else, into seconds since 1970. */
bool sotto_calendar_parse_time(int64_t *seconds, const char *text);
void sotto_calendar_format_time(char out[SOTTO_CALENDAR_TEXT], int64_t seconds);

/* A whole number of at most 9 digits, more than 0, and s, m, h or d; into seconds. */
bool sotto_calendar_parse_duration(uint64_t *seconds, const char *text);

#endif
