# For the scripts beside it: ends with a visible line where nothing can be measured.
#
#   . needs_gpu.sh; needs_gpu DEVICE "what is left out"
needs_gpu() {
    if [ "$1" != emulated ] && ! ls /dev/nvidia[0-9]* >/dev/null 2>&1; then
        echo "SKIPPED: this machine has no GPU; $2 on $1"
        exit 0
    fi
}
