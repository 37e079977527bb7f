import APNSSimulator
import Glibc

exit(SimulatorProgram.run(Array(CommandLine.arguments.dropFirst())))
