/*
 * The one process of a pause container. It holds the task's network namespace open and does nothing else:
 * ends on SIGTERM or SIGINT, and, being process 1, collects whatever children a shared pid namespace leaves to it.
 */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t awaited;
	int signal;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGCHLD);
	/* Process 1 never gets a signal whose action is the default one, unless it is blocked: pid_namespaces(7). */
	if (sigprocmask(SIG_BLOCK, &awaited, NULL) != 0)
		return EXIT_FAILURE;

	while (sigwait(&awaited, &signal) == 0) {
		if (signal != SIGCHLD)
			return EXIT_SUCCESS;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return EXIT_FAILURE;
}
