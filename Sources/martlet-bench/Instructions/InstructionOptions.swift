/// What the command line asks for.
struct InstructionOptions {
    let messages = 2000
    let warmUp = 3000
    let inFlight = 100
    /// What is counted becomes what is accepted.
    var accepts = false
    /// Is what is to be counted, in callgrind.
    var isCounted = false

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--accept": accepts = true
            case "--counted": isCounted = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
    }
}
