import Glibc
import MartletCLI

exit(MartletProgram.run(Array(CommandLine.arguments.dropFirst())))
