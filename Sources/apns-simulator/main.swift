import APNSSimulator
import Glibc

exit(SimulatorCommand.run(Array(CommandLine.arguments.dropFirst())))
