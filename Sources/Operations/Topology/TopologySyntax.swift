extension CommandSyntax {
    static let topologyPrint = CommandSyntax(
        path: ["topology", "print"],
        summary: "Show the exchanges, queues and bindings, without connecting.",
        discussion: """
            As a table, or as what declares them without martlet: a definitions file, a script of rabbitmqctl, or objects of
            the messaging topology operator. The last two say what each user may do; no password is read, but one in amqp.url, or written. --broker
            adds what turns off the delivery limit of RabbitMQ 4.0 and later, which takes a message out of a queue that was
            returned 20 times.
            """,
        options: [
            .config(), .prefix,
            OptionSyntax(
                name: "format", value: "FORMAT", help: "table (default), definitions, rabbitmqctl, kubernetes"),
            OptionSyntax(name: "broker", value: "VERSION", help: "the broker's version: 3.10, 3.13, 4.0, 4.3"),
            OptionSyntax(name: "cluster", value: "NAME", help: "of Kubernetes: the RabbitmqCluster; default rabbitmq"),
            OptionSyntax(name: "json", help: "the same as --format definitions"),
        ])

    static let topologyCheck = CommandSyntax(
        path: ["topology", "check"],
        summary: "Compare the broker with the topology, and change nothing.",
        discussion: """
            Prints what is missing or differs, each with what to do about it. Exit code 0: nothing is, 1: something is. AMQP
            shows whether things are there, and to a user who may declare them whether their arguments are right; bindings
            and policies are seen where amqp.management_url is configured. A queue counts as a difference, too, if requests
            wait in it without a consumer, or if it is full and refuses messages, so that results cannot be published.
            """,
        options: [.config(), .url, .prefix, .json])

    static let topologyApply = CommandSyntax(
        path: ["topology", "apply"],
        summary: "Declare the exchanges, queues and bindings at the broker.",
        discussion: """
            Declares what is missing and leaves alone what is there; run it as often as you like. Something that exists
            with other arguments is an error: the broker cannot change it, only delete and declare anew. The binding of all
            requests to one queue is taken away where there are several. Those of queues that are no longer queues of
            requests are taken away when they are named as --former; where amqp.management_url is configured, these are
            listed. On RabbitMQ 4 new queues have no delivery limit. Queues that exist with the limit need a policy, which
            amqp.management_url sets. Without it the rabbitmqctl command is printed and the exit code is 1;
            --without-policies leaves the policy to others.
            """,
        options: [
            .config(), .url, .prefix,
            OptionSyntax(
                name: "former", value: "QUEUE[=KEY]",
                help: "take away its binding to the exchange of requests; several are allowed", isList: true),
            OptionSyntax(name: "without-policies", help: "others set the one that existing queues need on RabbitMQ 4"),
        ])
}
