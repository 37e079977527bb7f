import Glibc
import Operations

exit(MartletProgram.run(Array(CommandLine.arguments.dropFirst())))
