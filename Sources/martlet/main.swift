import Glibc
import Operations

exit(MartletCommand.run(Array(CommandLine.arguments.dropFirst())).rawValue)
