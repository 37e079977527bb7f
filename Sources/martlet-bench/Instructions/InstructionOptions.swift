/// What the command line asks for.
struct InstructionOptions {
    let messages = 2000
    let warmUp = 3000
    let inFlight = 100
    /// Over which the messages are spread; half of several by a key of their own, half by a certificate.
    var apps = 1
    /// Of several apps, at least: the other keys serve none.
    let credentials = 64
    /// What is counted becomes what is accepted.
    var accepts = false
    /// Is what is to be counted, in callgrind.
    var isCounted = false

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--apps": apps = try arguments.number(for: argument, in: 1...100)
            case "--accept": accepts = true
            case "--counted": isCounted = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
        if accepts, apps > 1 { throw UsageError(message: "what is accepted is the cost of one app's messages") }
    }
}
