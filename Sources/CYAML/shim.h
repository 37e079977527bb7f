#ifndef MARTLET_CYAML_H
#define MARTLET_CYAML_H

#include <yaml.h>

#endif
