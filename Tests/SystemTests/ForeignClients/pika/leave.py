"""Publishes one command with direct reply-to and disconnects before the reply: leave.py URL QUEUE COMMAND"""

import sys

import pika

url, queue, command = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
channel.basic_consume("amq.rabbitmq.reply-to", lambda *_: None, auto_ack=True)
properties = pika.BasicProperties(
    reply_to="amq.rabbitmq.reply-to", correlation_id="left", message_id="left", delivery_mode=2
)
channel.basic_publish("", queue, command, properties)
connection.close()
