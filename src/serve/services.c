/* The product's services. A new one is a folder and a row here. */
#include "serve/aggregator/aggregator_service.h"
#include "serve/attester/attester_service.h"
#include "serve/gateway/gateway_service.h"
#include "serve/helper/helper_service.h"
#include "serve/issuer/issuer_service.h"
#include "serve/leader/leader_service.h"
#include "serve/log/log_service.h"
#include "serve/relay/relay_service.h"
#include "serve/witness/witness_service.h"

const sotto_service *const sotto_services[] = {
    &sotto_leader_service, &sotto_helper_service,   &sotto_gateway_service,
    &sotto_relay_service,  &sotto_log_service,      &sotto_witness_service,
    &sotto_issuer_service, &sotto_attester_service, &sotto_aggregator_service,
};
const size_t sotto_service_count = sizeof sotto_services / sizeof sotto_services[0];
