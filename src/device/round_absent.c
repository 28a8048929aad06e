#include "device/round.h"

const sotto_device_rounds *const sotto_linked_rounds = NULL;
