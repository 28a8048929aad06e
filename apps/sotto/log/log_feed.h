/* apps/sotto/log/log_feed.h - the verbs `sotto log feed` and `sotto log publish`. */
#ifndef SOTTO_APPS_LOG_FEED_H
#define SOTTO_APPS_LOG_FEED_H

#include "verbs.h"

extern const sotto_verb sotto_verb_log_feed, sotto_verb_log_publish;

#endif
