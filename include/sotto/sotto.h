/* sotto/sotto.h - everything public, in the order the data walks. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/base.h"
#include "sotto/log.h"
#include "sotto/privacy.h"
#include "sotto/random.h"
#include "sotto/seal.h"
#include "sotto/vdaf.h"

#endif
