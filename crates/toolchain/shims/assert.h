// assert is built in.
#ifndef LIGHTSPEED_SHIM_ASSERT_H
#define LIGHTSPEED_SHIM_ASSERT_H

#endif
