"""Result files of benchmarks other than YCSB."""
