/* sotto/sotto.h - everything public, in the order the data walks. No library has all of it: libsotto has the first six,
 * libsotto-device recipe.h and device.h, libsotto-device-full these, learn.h and rounds.h, libsotto-analyst all but device.h,
 * learn.h and rounds.h. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/base.h"
#include "sotto/log.h"
#include "sotto/privacy.h"
#include "sotto/random.h"
#include "sotto/seal.h"
#include "sotto/vdaf.h"

#include "sotto/events.h"
#include "sotto/recipe.h"

#include "sotto/lint.h"

#include "sotto/device.h"
#include "sotto/learn.h"
#include "sotto/rounds.h"

#include "sotto/rejections.h"

#include "sotto/collect.h"

#include "sotto/analyse.h"

#include "sotto/view.h"

#endif
