#include "tests.h"

void test_statistically(struct rtnl *r)
{
    (void)r;
}
