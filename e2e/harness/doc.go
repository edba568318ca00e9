// Package harness provides end-to-end tests with PostgreSQL and Redis servers, the program itself
// as a process that can be killed, and a load balancer in front of it.
//
// A server comes from the first available of these:
//
//  1. GATEHOUSE_TEST_POSTGRES_DSN or GATEHOUSE_TEST_REDIS_ADDR, for the servers a test process shares;
//     a test that stops its server never uses them.
//  2. A container, when a container engine answers and the image is present or can be pulled.
//     GATEHOUSE_TEST_POSTGRES_IMAGE and GATEHOUSE_TEST_REDIS_IMAGE replace the pinned images.
//  3. Programs installed on the machine: initdb and postgres, redis-server.
//
// GATEHOUSE_TEST_ENGINE=container or =local leaves only that one of 2 and 3. A test without a
// server fails and says what to install or set; it is never skipped.
//
// A package that uses the harness has a TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
package harness
