/* A C program with picolibc on semihosting: arguments, standard input, exit code (docs/run.md). */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[80];

    for (int i = 1; i < argc; i++) {
        printf("argument %d: %s\n", i, argv[i]);
    }
    printf("name? ");
    fflush(stdout);
    if (fgets(name, sizeof name, stdin) == NULL) {
        return 1;
    }
    name[strcspn(name, "\n")] = '\0';
    printf("hello %s, 2/3 is %.6f\n", name, 2.0 / 3.0);
    return (int)strlen(name);
}
