#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "run") : NULL;
        if (!run) return fprintf(stderr, "%s\n", dlerror()), 1;
        printf("%d\n", run() >> 16);
    }
    return 0;
}
