#ifndef CLOCK_H
#define CLOCK_H

double wall_seconds(void);
double processor_seconds(void);

#endif
