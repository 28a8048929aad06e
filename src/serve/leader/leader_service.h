/* serve/leader/leader_service.h - the leader as a service; its state is a sotto_server (tasks/server.h). */
#ifndef SOTTO_SERVE_LEADER_LEADER_SERVICE_H
#define SOTTO_SERVE_LEADER_LEADER_SERVICE_H

#include "serve/host/service.h"

extern const sotto_service sotto_leader_service;

#endif
